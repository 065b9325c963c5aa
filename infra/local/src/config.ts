/** The environment of PostgreSQL's own programs: ours, with messages and order of the C locale, so that they can be read. */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: 'C' };
}
