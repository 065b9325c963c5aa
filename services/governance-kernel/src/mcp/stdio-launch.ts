import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxTerms } from '@countersign/contracts/governance-kernel';
import { dataFolder, type Launch } from '../sandbox/bubblewrap.ts';
import { proxyVariables, withForwarder } from '../sandbox/egress-forwarder.ts';
import type { SandboxHost } from '../sandbox/host.ts';
import type { McpServerConfig } from './server-config.ts';
import { commandUnder, type StdioAccount } from '../sandbox/stdio-account.ts';

export type Stdio = Extract<McpServerConfig, { transport: 'stdio' }>;

type LaunchOptions = {
  /** Folder for homes of children. */
  scratchDir: string;
  /** The account of children. `null`: that of this process. */
  account: StdioAccount | null;
  host: Pick<SandboxHost, 'launch'>;
  /** `null`: the server runs beside the kernel, with the rights of the account. */
  terms: SandboxTerms | null;
  /** The socket of the proxy that leads out of the sandbox. */
  egressSocket: string | null;
};

type StdioLaunch = Launch & { env: Record<string, string>; cwd: string };

/** How a server over stdio is started: the command line, all variables that it gets, and its folder. */
export function stdioLaunch(config: Stdio, options: LaunchOptions): StdioLaunch {
  const { terms, account, host, egressSocket } = options;
  const { command, args, cwd } = config;
  const home = homeOf(config.server_id, options);
  if (terms === null || terms.profile === 'none') {
    const launch = account === null ? { command, args } : commandUnder(account, { command, args });
    const granted = terms === null ? config.env : grantedEnvironment(config, terms);
    return { ...launch, env: { ...childEnvironment(home), ...granted }, cwd: cwd ?? home };
  }
  const launch = egressSocket === null ? { command, args } : withForwarder({ command, args });
  const isBound = terms.profile === 'bubblewrap';
  return {
    ...host.launch(terms, { ...launch, home, cwd, egressSocket }),
    env: {
      ...childEnvironment(isBound ? dataFolder : home),
      ...grantedEnvironment(config, terms),
      ...(egressSocket === null ? {} : proxyVariables),
    },
    cwd: isBound ? '/' : (cwd ?? home),
  };
}

function grantedEnvironment({ env }: Stdio, terms: SandboxTerms): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => terms.env.includes(name)));
}

/** A folder of the child's own. On the way to it others may pass, and see nothing. */
function homeOf(serverId: string, { scratchDir, account }: Pick<LaunchOptions, 'scratchDir' | 'account'>): string {
  const home = join(scratchDir, serverId);
  mkdirSync(scratchDir, { recursive: true, mode: account === null ? 0o700 : 0o711 });
  mkdirSync(home, { recursive: true, mode: 0o700 });
  if (account !== null) chownSync(home, account.uid, account.gid);
  return home;
}

/** The SDK adds six names from our own environment unless they are given: of ours a child gets PATH and nothing else. */
function childEnvironment(home: string): Record<string, string> {
  return { HOME: home, TMPDIR: home, LOGNAME: 'nobody', USER: 'nobody', SHELL: '/bin/sh', TERM: 'dumb' };
}
