"""The same held-out prompts with and without drafts, and an honest account of the difference.

cli ──▶ flow ──▶ inputs (prompts and drafter, checked)
          ├────▶ engines (processes of our own, or ones that run already)
          ├────▶ measuring (groups of passes, in turn) ──▶ passes (one pass) ──▶ measured (every request, on disk)
          └────▶ results (rows) ──▶ verdict (a sentence), report (summary.json), answers (drafts token by token)
"""
