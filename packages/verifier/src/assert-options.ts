const ofExports = [
  'keys',
  'root',
  'trust-version',
  'tenant',
  'origin',
  'head',
  'contains',
  'sessions',
  'beside',
  'require',
  'json',
];

/** The kinds of input, and the options that apply to each. */
const optionsOf = {
  'an export': [...ofExports, 'session', 'from', 'to', 'partial'],
  // Its statement says what it is a part of. From and to of a session's export are refused with its header.
  'the export of a period': [...ofExports, 'session', 'from', 'to'],
  'an evidence pack': [...ofExports, 'session', 'from', 'to'],
  'an audit log': ['audit', 'workspace', 'head', 'json'],
  'a conformance proof': ['conformance', 'keys', 'root', 'trust-version', 'vectors', 'origin', 'json'],
};
const repeatable = ['head', 'contains'];

/** Status 0 says that all that was asked holds, so nothing that was asked is passed over. Throws an Error that names the option. */
export function assertOptions(what: keyof typeof optionsOf, given: readonly string[]): void {
  const strange = given.find((name) => !optionsOf[what].includes(name));
  if (strange !== undefined) throw new Error(`--${strange} asks nothing of ${what}; see --help`);
  const repeated = given.find((name, at) => given.indexOf(name) !== at && !repeatable.includes(name));
  if (repeated !== undefined) throw new Error(`--${repeated} may be given once; see --help`);
}
