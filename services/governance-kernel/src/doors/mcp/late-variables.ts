/**
 * Variables that the loader and the C library read in each program that starts. Two such programs, setpriv and
 * bubblewrap, have the rights of the kernel. If they received a tenant's variable, it could load code, or write a file,
 * outside of the sandbox.
 */
const readAtStart =
  /^(?:LD_|GLIBC_|MALLOC_)|^(?:GCONV_PATH|GETCONF_DIR|HOSTALIASES|LOCALDOMAIN|LOCPATH|NIS_PATH|NLSPATH|RESOLV_HOST_CONF|RES_OPTIONS|TZDIR)$/i;

/** Node reads further rights for its permission model from this variable. */
const grantsRights = /^NODE_OPTIONS$/i;

type Variables = Readonly<Record<string, string>>;

/** Variables that only the started program may get, and variables that the programs which start it may also get. */
export function splitVariables(env: Variables): { late: Record<string, string>; early: Record<string, string> } {
  const entries = Object.entries(env);
  return {
    late: Object.fromEntries(entries.filter(([name]) => readAtStart.test(name))),
    early: Object.fromEntries(entries.filter(([name]) => !readAtStart.test(name))),
  };
}

/**
 * The command, started through `env` with these variables. They are visible on its command line, but none of them is a
 * secret.
 */
export function withVariables(
  late: Variables,
  { command, args }: { command: string; args: readonly string[] },
): { command: string; args: string[] } {
  const pairs = Object.entries(late).map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0
    ? { command, args: [...args] }
    : { command: '/usr/bin/env', args: [...pairs, command, ...args] };
}

/** The variable with which Node's permission model would not confine a server. `null` when there is none. */
export function unheldVariable(env: Variables): string | null {
  return Object.keys(env).find((name) => readAtStart.test(name) || grantsRights.test(name)) ?? null;
}
