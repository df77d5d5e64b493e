"""The pure middle: values in, values out; nothing here opens a file, a socket or a process."""
