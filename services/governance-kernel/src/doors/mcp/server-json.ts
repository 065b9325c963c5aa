import { AppError } from '@countersign/contracts';
import { z } from 'zod';
import { fittingId } from './client-servers.ts';

const Value = z.looseObject({
  name: z.string(),
  value: z.string().optional(),
  default: z.string().optional(),
  isRequired: z.boolean().optional(),
});
const Remote = z.looseObject({ type: z.string(), url: z.string(), headers: z.array(Value).default([]) });
const Package = z.looseObject({
  registryType: z.string(),
  identifier: z.string(),
  version: z.string().optional(),
  transport: z.looseObject({ type: z.string() }),
  environmentVariables: z.array(Value).default([]),
});

/** The members of schema 2025-12-11 that state how a server is reached. */
const ServerJson = z.looseObject({
  name: z.string().regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/, 'must be a reverse DNS name, one slash and a name'),
  remotes: z.array(Remote).default([]),
  packages: z.array(Package).default([]),
});

type Options = { headers: Record<string, string> | undefined; env: Record<string, string> | undefined };

/**
 * A server of the official registry, in the client format. A remote server over streamable HTTP is preferred to a
 * package. Throws INVALID_REQUEST.
 */
export function serverOfJson(json: unknown, options: Options): { name: string; entry: Record<string, unknown> } {
  const read = ServerJson.safeParse(json);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw refused(['server_json', ...(issue?.path ?? [])].map(String).join('.'), issue?.message ?? 'is malformed');
  }
  const { name, remotes, packages } = read.data;
  const id = fittingId(name.slice(name.indexOf('/') + 1)) ?? fittingId(name);
  if (id === null) throw refused('server_id', 'The server has no name that fits: send server_id');
  const remote = remotes.find(({ type }) => type === 'streamable-http');
  if (remote !== undefined)
    return {
      name: id,
      entry: { url: remote.url, headers: valuesOf(remote.headers, { param: 'headers', values: options.headers }) },
    };
  const local = packages.find(({ transport, registryType }) => transport.type === 'stdio' && registryType in runners);
  if (local === undefined)
    throw refused(
      'server_json',
      'server_json has no remote of the type streamable-http, and no package over stdio of npm, pypi or oci',
    );
  const runner = runners[local.registryType as keyof typeof runners]; // the search requires that `runners` has it
  const env = valuesOf(local.environmentVariables, { param: 'env', values: options.env });
  return { name: id, entry: { ...runner(local), env } };
}

type Local = z.infer<typeof Package>;

/** How a package of each registry is run. */
const runners = {
  npm: ({ identifier, version }: Local) => ({
    command: 'npx',
    args: ['-y', version ? `${identifier}@${version}` : identifier],
  }),
  pypi: ({ identifier, version }: Local) => ({
    command: 'uvx',
    args: [version ? `${identifier}==${version}` : identifier],
  }),
  oci: ({ identifier }: Local) => ({ command: 'docker', args: ['run', '-i', '--rm', identifier] }),
};

/** Values from the document or the request. A placeholder in braces is not a value. */
function valuesOf(
  declared: readonly z.infer<typeof Value>[],
  { param, values: input = {} }: { param: string; values: Record<string, string> | undefined },
): Record<string, string> {
  const stated = declared.flatMap(({ name, value, default: fallback }) => {
    const text = value ?? fallback;
    return text === undefined || /\{[^}]*\}/.test(text) ? [] : [[name, text] as const];
  });
  const values = { ...Object.fromEntries(stated), ...input };
  const missing = declared.find(({ name, isRequired }) => isRequired === true && values[name] === undefined);
  if (missing !== undefined)
    throw refused(`${param}.${missing.name}`, `The server needs ${missing.name}: send it in ${param}`);
  return values;
}

function refused(param: string, message: string): AppError {
  return new AppError('INVALID_REQUEST', message, { param });
}
