/** The reasons why a file cannot be read, by system error code. */
const fileProblems: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
};

/** The text of an error for the user of the command. It names `file`, if one is passed. */
export function cliProblem(error: unknown, file?: string): string {
  if (!(error instanceof Error)) return String(error);
  // Stryker disable next-line StringLiteral: The table contains neither code.
  const code = 'code' in error ? String(error.code) : '';
  const problem = fileProblems[code];
  const path = file ?? ('path' in error ? String(error.path) : 'The file');
  if (problem !== undefined) return `${path} cannot be read: ${problem}`;
  // Node appends advice on file names that begin with a dash.
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `${error.message.split('. ')[0] ?? ''}; see --help`;
  return file === undefined ? error.message : `${file}: ${error.message}`;
}
