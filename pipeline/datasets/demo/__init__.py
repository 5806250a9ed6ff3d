"""Eight small datasets of real prompts that ship inside Python packages (requirements-demo.txt)."""
