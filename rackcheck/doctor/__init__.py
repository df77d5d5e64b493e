"""The first hour at a rack: who answers, what stands in the way, what to type, and what an audit would not know."""
