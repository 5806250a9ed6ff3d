import torch

from pipeline.initialisation import initialise
from pipeline.model import Drafter
from tests.support.tiny_drafter import CONFIG, tiny


def layer(**changes: torch.Tensor) -> dict[str, torch.Tensor]:
    shapes = {
        "input_layernorm.weight": (24,), "post_attention_layernorm.weight": (24,), "self_attn.q_proj.weight": (48, 24),
        "self_attn.k_proj.weight": (16, 24), "self_attn.v_proj.weight": (16, 24), "self_attn.o_proj.weight": (24, 48),
        "mlp.gate_proj.weight": (40, 24), "mlp.up_proj.weight": (40, 24), "mlp.down_proj.weight": (24, 40),
    }  # fmt: skip
    generator = torch.Generator().manual_seed(1)
    return {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()} | changes


def fresh() -> tuple[Drafter, torch.Tensor]:
    setup = tiny(dtype=torch.float32)
    return setup.drafter, setup.head


def test_head_starts_as_the_targets_rows() -> None:
    drafter, head = fresh()
    assert initialise(drafter, "random", seed=0, head=head, layer={}) == ["lm_head.weight"]
    assert torch.equal(drafter.lm_head.weight, head[drafter.vocabulary.token_ids])


def test_layer_starts_as_the_targets_in_the_hidden_half() -> None:
    drafter, head = fresh()
    taken = initialise(drafter, "target", seed=0, head=head, layer=layer())
    assert len(taken) == 11
    assert torch.equal(drafter.midlayer.self_attn.q_proj.weight[:, 24:], layer()["self_attn.q_proj.weight"])
    assert float(drafter.midlayer.self_attn.q_proj.weight[:, :24].detach().abs().max()) < 0.2
    assert torch.equal(drafter.midlayer.hidden_norm.weight, layer()["input_layernorm.weight"])
    assert torch.equal(drafter.midlayer.mlp.down_proj.weight, layer()["mlp.down_proj.weight"])
    assert float((drafter.fc.weight[:, 48:].detach() - torch.eye(24)).abs().max()) < 0.2


def test_what_the_target_lacks_starts_at_random() -> None:
    drafter, head = fresh()
    odd = layer(**{"self_attn.q_proj.weight": torch.zeros(96, 24)})
    del odd["mlp.gate_proj.weight"]
    taken = initialise(drafter, "target", seed=0, head=head, layer=odd)
    assert {"midlayer.self_attn.q_proj.weight", "midlayer.mlp.gate_proj.weight"}.isdisjoint(taken)
    assert 0.01 < float(drafter.midlayer.self_attn.q_proj.weight.detach().std()) < 0.03


def test_norm_before_the_mlp_is_taken_where_a_family_has_another_one() -> None:
    drafter, head = fresh()
    initialise(
        drafter, "target", seed=0, head=head, layer=layer(**{"pre_feedforward_layernorm.weight": torch.full((24,), 7.0)})
    )
    assert drafter.midlayer.post_attention_layernorm.weight.tolist() == [7.0] * 24


def test_same_seed_same_weights() -> None:
    (one, head), (other, _) = fresh(), fresh()
    for drafter in (one, other):
        initialise(drafter, "random", seed=4, head=head, layer={})
    assert torch.equal(one.fc.weight, other.fc.weight)
    initialise(other, "random", seed=5, head=head, layer={})
    assert not torch.equal(one.fc.weight, other.fc.weight)
    assert one.config == CONFIG
