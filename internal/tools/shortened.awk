# Prints the tests that -short shortens, as lines "folder test", from test files: functions that call testing.Short or
# trees.Count, and those that call such a function of their package. A TestMain that does shortens the whole package.
FNR == 1 { dir = FILENAME; sub(/\/[^\/]*$/, "", dir); f = "" }
/^func / {
  f = $0
  sub(/^func (\([^)]*\) )?/, "", f)
  sub(/[^A-Za-z0-9_].*/, "", f)
  f = dir " " f
  if (!(f in body)) name[++n] = f
  body[f] = body[f] "\n"
  next
}
f != "" { body[f] = body[f] $0 "\n" }
END {
  for (i = 1; i <= n; i++) {
    f = name[i]
    if (body[f] ~ /testing\.Short\(\)|trees\.Count\(/) short[f] = 1
  }
  for (again = 1; again;) {
    again = 0
    for (h in short) {
      split(h, part, " ")
      if (part[2] ~ /^Test/) continue
      for (i = 1; i <= n; i++) {
        f = name[i]
        if (f in short || index(f, part[1] " ") != 1) continue
        if (body[f] ~ "(^|[^A-Za-z0-9_.])" part[2] "\\(") { short[f] = 1; again = 1 }
      }
    }
  }
  for (i = 1; i <= n; i++) {
    f = name[i]
    split(f, part, " ")
    if (part[2] ~ /^Test/ && part[2] != "TestMain" && (f in short || (part[1] " TestMain") in short)) print f
  }
}
