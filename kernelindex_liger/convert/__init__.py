"""Read, bind, link, emit, write, report: a file a stage."""
