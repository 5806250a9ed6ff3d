from django.test import Client


def test_icon_is_found_where_browsers_look_for_it() -> None:
    answer = Client().get("/favicon.ico")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/static/icon.svg")
