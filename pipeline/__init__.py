"""The four long stages of training a drafter, as plain programs: no Django anywhere below this folder."""
