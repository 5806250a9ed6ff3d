from pipeline.serving.embedded.throughput import Throughput


def test_it_is_told_once_a_window_is_full() -> None:
    throughput = Throughput()
    throughput.count(5, 10.0)
    throughput.count(5, 11.0)
    assert throughput.value == 0.0
    throughput.count(10, 12.5)
    assert throughput.value == 8.0
    throughput.count(1, 13.0)
    assert throughput.value == 8.0


def test_an_idle_engine_makes_nothing() -> None:
    throughput = Throughput()
    throughput.count(5, 10.0)
    throughput.count(5, 12.0)
    throughput.idle()
    assert throughput.value == 0.0
