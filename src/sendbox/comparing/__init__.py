"""Is the sandbox true? Calls and answers that were recorded at the service are made again in fresh worlds.

`recording` reads the file, `running` makes the calls, `names` knows what answers gave out, `differences` compares
answers, `comparison` puts it together and finds the settings that agree, `agreement` searches for several at once and
writes them, `report` puts it into words. Nothing leaves the process.
"""
