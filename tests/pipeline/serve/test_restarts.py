from pipeline.serve.config import RestartPolicy
from pipeline.serve.restarts import Restarts, Verdict


def test_pauses_double_up_to_the_longest_and_end_with_the_last_failure() -> None:
    restarts = Restarts(RestartPolicy(most=4, first_s=2.0, longest_s=10.0))
    found = [restarts.after_failure(ready_for_s=0) for _ in range(5)]
    assert found == [Verdict(2.0, 1), Verdict(4.0, 2), Verdict(8.0, 3), Verdict(10.0, 4), Verdict(None, 5)]


def test_server_that_was_steady_has_no_failures_behind_it() -> None:
    restarts = Restarts(RestartPolicy(most=1, first_s=2.0, steady_s=60.0))
    assert restarts.after_failure(ready_for_s=0) == Verdict(2.0, 1)
    assert restarts.after_failure(ready_for_s=60) == Verdict(2.0, 1)
    assert restarts.after_failure(ready_for_s=59.9) == Verdict(None, 2)


def test_never_means_the_first_failure_is_the_last() -> None:
    assert Restarts(RestartPolicy(when="never")).after_failure(ready_for_s=9999) == Verdict(None, 1)
