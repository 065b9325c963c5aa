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
  'policy',
  'require',
  'json',
];

/** The kinds of input, and the options that apply to each. */
const optionsOf = {
  'an export': [...ofExports, 'session', 'from', 'to', 'partial'],
  // A period is never partial, because its statement defines its scope. For the export of a session, `from` and `to`
  // are refused when its header is read.
  'the export of a period': [...ofExports, 'session', 'from', 'to'],
  'an evidence pack': [...ofExports, 'session', 'from', 'to'],
  'an audit log': ['audit', 'workspace', 'head', 'json'],
  'a conformance proof': ['conformance', 'keys', 'root', 'trust-version', 'vectors', 'origin', 'json'],
};
const repeatable = ['head', 'contains'];

/**
 * Status 0 means that all requested checks passed, so no requested check may be ignored. Throws an Error that names
 * the option.
 */
export function assertOptions(what: keyof typeof optionsOf, values: readonly string[]): void {
  const strange = values.find((name) => !optionsOf[what].includes(name));
  if (strange !== undefined) throw new Error(`--${strange} does not apply to ${what}; see --help`);
  const repeated = values.find((name, at) => values.indexOf(name) !== at && !repeatable.includes(name));
  if (repeated !== undefined) throw new Error(`--${repeated} may be used once; see --help`);
}
