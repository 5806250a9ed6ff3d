"""What Celery carries: primary keys in, one domain call, and a log line when the row has gone."""
