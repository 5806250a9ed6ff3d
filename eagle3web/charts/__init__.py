"""Rows → Plotly figure dicts. Colours are names that charts.js looks up ("@accent"), so one figure serves light and dark.

Times are milliseconds since 1970. Text from people goes through `eagle3web.text.plotly`, since Plotly reads markup.
"""
