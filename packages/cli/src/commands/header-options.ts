import { CommandFailed } from '../command-failed.ts';

type HeaderOptions = { header?: string[] | undefined; headerEnv?: string[] | undefined };

/**
 * The headers that options name. A secret belongs into a variable, because other users of the machine can read the
 * arguments of a command. Throws CommandFailed for a malformed option, and for a variable that is not set.
 */
export function headersOf({ header, headerEnv }: HeaderOptions, env: NodeJS.ProcessEnv): Record<string, string> {
  const fromEnv = Object.entries(pairs(headerEnv, '=')).map(([name, variable]) => {
    const value = env[variable];
    if (value === undefined || value === '')
      throw new CommandFailed(`The variable ${variable} for the header ${name} is not set. Set it, and repeat`, 2);
    return [name, value] as const;
  });
  return { ...pairs(header, ':'), ...Object.fromEntries(fromEnv) };
}

/** Splits `name: value` or `NAME=value` options. Throws CommandFailed for an option without the separator. */
export function pairs(values: string[] = [], separator: string): Record<string, string> {
  return Object.fromEntries(
    values.map((pair) => {
      const at = pair.indexOf(separator);
      if (at < 1) throw new CommandFailed(`Write a name, "${separator}" and a value, instead of a value alone`, 2);
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}
