# Runs are settled when they shall stay failed, and say since when they are queued.

from typing import Any

import django.utils.timezone
from django.db import migrations, models
from django.db.models import F


def since_they_were_made(apps: Any, schema_editor: Any) -> None:
    """What is queued now was resumed at no known moment; the one at which it was made is the earliest."""
    apps.get_model("eagle3web", "Run").objects.update(queued_at=F("created_at"))


class Migration(migrations.Migration):

    dependencies = [
        ('eagle3web', '0003_trust'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='settled_at',
            field=models.DateTimeField(blank=True, help_text='somebody knows that it failed, and leaves it so', null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='queued_at',
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
        migrations.RunPython(since_they_were_made, migrations.RunPython.noop),
    ]
