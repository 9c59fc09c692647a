"""What a judgement and a history look like: text, Markdown, JSON, and one page of HTML."""
