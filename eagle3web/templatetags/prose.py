"""What people write, as HTML that can do no harm: `{{ run.notes|markdown }}`."""

from django import template
from django.utils.safestring import SafeString

from eagle3web.markdown import render

register = template.Library()


@register.filter
def markdown(text: str) -> SafeString:
    """Markdown, sanitised."""
    return render(text)
