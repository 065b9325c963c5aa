/** Why a file cannot be read, by the code that the system gives. */
const fileProblems: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'this user may not',
  EISDIR: 'it is a directory',
};

/** The problem, for the user of the command. `file` is named, if anything was wrong with it. */
export function cliProblem(error: unknown, file?: string): string {
  if (!(error instanceof Error)) return String(error);
  // Stryker disable next-line StringLiteral: Nothing is said of either code.
  const code = 'code' in error ? String(error.code) : '';
  const problem = fileProblems[code];
  const path = file ?? ('path' in error ? String(error.path) : 'The file');
  if (problem !== undefined) return `${path} cannot be read: ${problem}`;
  // Node goes on with how to begin a file's name with a dash.
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `${error.message.split('. ')[0] ?? ''}; see --help`;
  return file === undefined ? error.message : `${file}: ${error.message}`;
}
