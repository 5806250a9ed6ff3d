"""What stands on each page: rows put into words, and rendered as fragments.

A page is a `Reader` (eagle3web.live). Its view renders the whole page with `context`, and the socket sends the same fragments
when they change, so that numbers are formatted and text is escaped in one place.
"""
