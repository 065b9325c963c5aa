import { faultsOfSubjects, filesOf, findingsInFiles } from './check-words.mjs';

/** Subjects of commits from this day on are checked. */
const subjectsSince = '2026-11-29';

/**
 * `node tests/lint/words/main.mjs [--counts] [folder …]` checks the whole tree, or the given folders. With `--counts`
 * it prints how often
 * each rule is broken and never fails.
 */
const args = process.argv.slice(2);
const counts = args.includes('--counts');
const folders = args.filter((arg) => !arg.startsWith('--'));
const findings = findingsInFiles(filesOf(folders.length > 0 ? folders : ['.']));
if (counts) {
  const rules = new Set(findings.map(({ rule }) => rule));
  for (const rule of rules)
    console.log(`${String(findings.filter((finding) => finding.rule === rule).length).padStart(6)} ${rule}`);
} else {
  for (const { path, line, rule, found, advice } of findings)
    console.error(`${path}:${line} ${rule} "${found}". ${advice}`);
  const subjects = folders.length > 0 ? [] : faultsOfSubjects(subjectsSince);
  for (const fault of subjects) console.error(`commit ${fault}`);
  if (findings.length + subjects.length > 0) process.exitCode = 1;
}
