# A contract with 250 keys that no rule reads: a list of messages stays short in text and in JSON.
import sys

with open(sys.argv[1], encoding="utf-8") as stream:
    contract = stream.read()
print("".join("key%d = 1\n" % i for i in range(250)) + contract, end="")
