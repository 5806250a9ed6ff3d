"""Prompts → answers, until each dataset's token budget is met. Many datasets in one flow, and no barrier between them.

cli ──▶ flow ──▶ dataset (one for each: prompts, quota, store)
          │ ├──▶ request (one prompt → its answer or its failure)
          │ └──▶ steering (what people ask while it runs)
          └────▶ reporting (events, tick) ──▶ words, terminal (the same for people)
"""
