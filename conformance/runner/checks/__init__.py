"""What each derived check does. Every function takes a session and a case, returns a note or None, and raises Failure.

A check here is for all cases at once; a case never brings code.
"""
