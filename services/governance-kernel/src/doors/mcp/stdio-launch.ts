import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxTerms } from '@countersign/contracts/governance-kernel';
import { dataFolder, type Launch } from '../../controls/sandbox/bubblewrap.ts';
import { proxyVariables, withForwarder } from '../../controls/sandbox/egress-forwarder.ts';
import type { SandboxHost } from '../../controls/sandbox/host.ts';
import { splitVariables, unheldVariable, withVariables } from './late-variables.ts';
import type { McpServerConfig } from './server-config.ts';
import { commandUnder, type StdioAccount } from '../../controls/sandbox/stdio-account.ts';

export type Stdio = Extract<McpServerConfig, { transport: 'stdio' }>;

type LaunchOptions = {
  /**
   * The key of the server in the registry. Its name would not suffice, since two tenants may have servers of one name.
   */
  key: string;
  /** The parent folder of the home folders of child processes. */
  scratchDir: string;
  /** The account of child processes. `null` for the account of this process. */
  account: StdioAccount | null;
  host: Pick<SandboxHost, 'launch' | 'account'>;
  /** `null` when the server runs outside a sandbox, with the rights of the account. */
  terms: SandboxTerms | null;
  /** The socket of the proxy for traffic out of the sandbox. */
  egressSocket: string | null;
};

type StdioLaunch = Launch & { env: Record<string, string>; cwd: string };

/** The command line, environment and folder with which a server over stdio is started. */
export function stdioLaunch(config: Stdio, options: LaunchOptions): StdioLaunch {
  const { terms, account, host, egressSocket } = options;
  const { command, args, cwd } = config;
  const isSandboxed = terms !== null && terms.profile !== 'none';
  const isShared = account !== null || host.account !== null;
  const home = homeOf({ ...options, account: isSandboxed ? host.account : account, isShared });
  const granted = terms === null ? config.env : grantedEnvironment(config, terms);
  const { late, early } = splitVariables(granted);
  const program = withVariables(late, { command, args });
  if (!isSandboxed) {
    const launch = account === null ? program : commandUnder(account, program);
    return { ...launch, env: { ...childEnvironment(home), ...early }, cwd: cwd ?? home };
  }
  const unheld = terms.profile === 'node-permission' ? unheldVariable(granted) : null;
  if (unheld !== null)
    throw new Error(`The sandbox profile node-permission cannot confine a server with the variable ${unheld}`);
  const launch = egressSocket === null ? program : withForwarder(program);
  const isBound = terms.profile === 'bubblewrap';
  return {
    ...host.launch(terms, { ...launch, home, cwd, egressSocket }),
    env: {
      ...childEnvironment(isBound ? dataFolder : home),
      ...early,
      ...(egressSocket === null ? {} : proxyVariables),
    },
    cwd: isBound ? '/' : (cwd ?? home),
  };
}

function grantedEnvironment({ env }: Stdio, terms: SandboxTerms): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => terms.env.includes(name)));
}

/** `isShared`: some servers run under a different account than the kernel. */
type Home = Pick<LaunchOptions, 'key' | 'scratchDir' | 'account'> & { isShared: boolean };

/** The child's own folder. Other accounts may traverse its parents and read nothing. */
function homeOf({ key, scratchDir, account, isShared }: Home): string {
  const home = join(scratchDir, encodeURIComponent(key));
  mkdirSync(scratchDir, { recursive: true, mode: isShared ? 0o711 : 0o700 });
  mkdirSync(home, { recursive: true, mode: 0o700 });
  if (account !== null) chownSync(home, account.uid, account.gid);
  return home;
}

/**
 * The SDK passes six variables of our own environment unless they are set. Five are set here, so a child gets only our
 * PATH.
 */
function childEnvironment(home: string): Record<string, string> {
  return { HOME: home, TMPDIR: home, LOGNAME: 'nobody', USER: 'nobody', SHELL: '/bin/sh', TERM: 'dumb' };
}
