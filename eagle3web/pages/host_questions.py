"""What a person is asked before a host gets no more work, or gets it again."""

from eagle3web.formats import count
from eagle3web.models import Host, Run
from eagle3web.pages.questions import Point, Question
from eagle3web.queries.engines import host_with_work
from eagle3web.text import visible


def drain_question(host: Host) -> Question:
    """Before a host is drained: what goes on there, and what waits for it. Three queries."""
    name, working = visible(host.name), host_with_work(host).attempts
    waiting = Run.objects.filter(host=host.name, status="queued").count()
    runs = ", ".join(f"r{attempt.run_id}" for attempt in working[:5]) + (" …" if len(working) > 5 else "")
    points = [
        Point("pause", f"{name} gets no new attempt. Runs that any host may take go elsewhere."),
        Point("play", f"{runs} goes on to its end." if len(working) == 1 else f"{runs} go on to their end.")
        if working
        else Point("check", "Nothing works there now."),
    ]
    if waiting:
        who = "1 queued run that names it waits" if waiting == 1 else f"{count(waiting)} queued runs that name it wait"
        points.append(Point("st-queued", f"{who} until it takes work again."))
    return Question(title=f"Drain {name}?", points=points, act=f"Drain {name}", refuse="Not now", icon="pause")


def undrain_question(host: Host) -> Question:
    """Before it takes work again."""
    name = visible(host.name)
    points = [Point("play", f"{name} takes what is queued for it, within ten seconds.")]
    return Question(title=f"Let {name} take work again?", points=points, act="Take work", refuse="Not now", icon="play")
