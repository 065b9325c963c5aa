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
  GOV_BOUNDARY_REGISTRY_PATH: z.string().min(1).optional(),
  GOV_DATA_DIR: z.string().min(1).default('.countersign'),
  XDG_CONFIG_HOME: z.string().min(1).optional(),
});

export type Config = {
  /** Address of the gateway. `null` when the login file decides. */
  url: string | null;
  /** API key of a workspace. It has priority over a login. */
  token: string | null;
  workspaceId: string | null;
  /** The person's folder for the login file. */
  dir: string;
};

/** The environment of this process. */
export const processEnvironment: Io['env'] = process.env;

/** The operator key of a kernel. Throws CommandFailed when it is not set. */
export function adminKeyOf(env: Io['env']): string {
  const { data } = Variables.safeParse(env);
  if (data?.COUNTERSIGN_ADMIN_KEY !== undefined) return data.COUNTERSIGN_ADMIN_KEY;
  throw new CommandFailed('COUNTERSIGN_ADMIN_KEY is not set. Set it to the operator key of the kernel', 2);
}

/** The registry file for standalone commands. Throws CommandFailed for an empty variable. */
export function registryPathOf(env: Io['env']): string {
  const read = Variables.safeParse(env);
  if (!read.success) throw new CommandFailed(`${String(read.error.issues[0]?.path[0])} is not valid`, 2);
  const { GOV_BOUNDARY_REGISTRY_PATH: path, GOV_DATA_DIR: dir } = read.data;
  return path ?? join(dir, 'boundary', 'surfaces.json');
}

/** Reads the environment. Throws CommandFailed with the name of an invalid variable. */
export function configFrom(env: Io['env']): Config {
  const read = Variables.safeParse(env);
  if (!read.success) throw new CommandFailed(`${String(read.error.issues[0]?.path[0])} is malformed`, 2);
  const { data } = read;
  return {
    url: data.COUNTERSIGN_URL ?? null,
    token: data.COUNTERSIGN_TOKEN ?? null,
    workspaceId: data.COUNTERSIGN_WORKSPACE ?? null,
    dir: data.COUNTERSIGN_CONFIG_DIR ?? join(data.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'countersign'),
  };
}
