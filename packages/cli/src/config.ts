import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { CommandFailed } from './command-failed.ts';
import type { Io } from './io.ts';

const Variables = z.object({
  COUNTERSIGN_URL: z.url({ protocol: /^https?$/ }).optional(),
  COUNTERSIGN_TOKEN: z.string().min(1).optional(),
  COUNTERSIGN_WORKSPACE: z.string().min(1).optional(),
  COUNTERSIGN_CONFIG_DIR: z.string().min(1).optional(),
  COUNTERSIGN_ADMIN_KEY: z.string().min(1).optional(),
  XDG_CONFIG_HOME: z.string().min(1).optional(),
});

export type Config = {
  /** Where the gateway answers, and by what; null: as `countersign login` has left it. */
  url: string | null;
  /** An API key of a workspace. It goes before a login. */
  token: string | null;
  workspaceId: string | null;
  /** The person's own folder for what is kept between two commands. */
  dir: string;
};

/** The environment of this process. */
export const processEnvironment: Io['env'] = process.env;

/** The key of a kernel's operators. Throws CommandFailed without it. */
export function adminKeyOf(env: Io['env']): string {
  const { data } = Variables.safeParse(env);
  if (data?.COUNTERSIGN_ADMIN_KEY !== undefined) return data.COUNTERSIGN_ADMIN_KEY;
  throw new CommandFailed('COUNTERSIGN_ADMIN_KEY is not set: it is the key of the operators of the kernel', 2);
}

/** Reads the environment. Throws CommandFailed, which names the variable. */
export function configFrom(env: Io['env']): Config {
  const read = Variables.safeParse(env);
  if (!read.success) throw new CommandFailed(`${String(read.error.issues[0]?.path[0])} is not what it has to be`, 2);
  const { data } = read;
  return {
    url: data.COUNTERSIGN_URL ?? null,
    token: data.COUNTERSIGN_TOKEN ?? null,
    workspaceId: data.COUNTERSIGN_WORKSPACE ?? null,
    dir: data.COUNTERSIGN_CONFIG_DIR ?? join(data.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'countersign'),
  };
}
