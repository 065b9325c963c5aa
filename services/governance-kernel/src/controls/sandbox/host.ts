import { instantOf } from '@countersign/contracts';
import { realpath } from 'node:fs/promises';
import type { SandboxProfile, SandboxProfileName, SandboxTerms } from '@countersign/contracts/governance-kernel';
import { commandUnder, type StdioAccount } from './stdio-account.ts';
import { findBubblewrap, prlimit, underBubblewrap, unusablePreopen, type Launch } from './bubblewrap.ts';
import { defaultTerms } from './grant-hash.ts';
import { underNodePermission } from './node-permission.ts';
import { probeProfile, type Attempt, type Probed } from './probe.ts';

type SandboxHostOptions = {
  /** The path of bubblewrap. `null` for the default locations. */
  bwrapPath: string | null;
  /** The account of sandboxed programs. `null` for the kernel's own account. */
  account: StdioAccount | null;
  scratchDir: string;
  clock: () => Date;
};

type Entry = { probed: Probed; atMs: number };

/** How long the result of a probe is used. Host settings may change, but each probe starts two processes. */
const probeAgeMaxMs = 600_000;

const installBubblewrap =
  'Install the package bubblewrap (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap; Alpine: apk add bubblewrap util-linux)';

/**
 * The profiles that this host supports. A profile counts as supported only while a probe shows that it contains
 * programs.
 */
export class SandboxHost {
  readonly #options: SandboxHostOptions;
  readonly #cache = new Map<SandboxProfileName, Entry>();
  readonly #probing = new Map<SandboxProfileName, Promise<Probed>>();

  constructor(options: SandboxHostOptions) {
    this.#options = options;
  }

  async profiles(): Promise<SandboxProfile[]> {
    return await Promise.all(
      (['bubblewrap', 'node-permission', 'none'] as const).map(async (profile) => {
        const probed = await this.#probe(profile);
        const atMs = this.#cache.get(profile)?.atMs;
        return {
          ...{ profile, available: probed.holds, ...described[profile], probe: probed.results },
          ...(probed.problem === null ? {} : { detail: probed.problem }),
          probed_at: profile === 'none' || atMs === undefined ? null : instantOf(atMs),
        };
      }),
    );
  }

  /** The reason why a program cannot start under these terms here. `null` when it can. */
  async refusal({ profile, preopens }: SandboxTerms): Promise<string | null> {
    const { holds, problem } = await this.#probe(profile);
    if (!holds) return `The sandbox profile ${profile} is not available: ${problem}`;
    for (const { path } of preopens) {
      const reason = profile === 'bubblewrap' ? unusablePreopen(path) : null;
      if (reason !== null) return `A preopen is not possible: ${reason}`;
      // A link is refused: a program could replace it, and the next start would then use another folder.
      const real = await realpath(path).catch(() => null);
      if (real === null) return `The preopen ${path} does not exist, or the kernel cannot read it`;
      if (real !== path) return `The preopen ${path} is a symbolic link. Grant the path that it leads to.`;
    }
    return null;
  }

  /** The account of sandboxed programs. `null` for the account of this process. */
  get account(): StdioAccount | null {
    return this.#options.account;
  }

  /** The command line of a program in its sandbox, as its account. Call `refusal` first. */
  launch(
    terms: SandboxTerms,
    {
      home,
      cwd,
      egressSocket,
      ...launch
    }: Launch & { home: string; cwd: string | undefined; egressSocket: string | null },
  ): Launch {
    return this.#asAccount(this.#within(terms, { launch, home, cwd, egressSocket }));
  }

  #within(
    terms: SandboxTerms,
    {
      launch,
      home,
      cwd,
      egressSocket,
    }: { launch: Launch; home: string; cwd: string | undefined; egressSocket: string | null },
  ): Launch {
    switch (terms.profile) {
      case 'bubblewrap':
        return underBubblewrap({ bwrap: this.#bwrap() ?? 'bwrap', egressSocket }, { terms, launch, cwd });
      case 'node-permission':
        return underNodePermission(terms, { launch, home });
      case 'none':
        return launch;
    }
  }

  #asAccount(launch: Launch): Launch {
    const { account } = this.#options;
    return account === null ? launch : commandUnder(account, launch);
  }

  #bwrap(): string | null {
    return findBubblewrap(this.#options.bwrapPath);
  }

  #probe(profile: SandboxProfileName): Promise<Probed> {
    const existing = this.#cache.get(profile);
    const nowMs = this.#options.clock().getTime();
    if (existing !== undefined && Math.abs(nowMs - existing.atMs) < probeAgeMaxMs)
      return Promise.resolve(existing.probed);
    const running = this.#probing.get(profile) ?? this.#probeAnew(profile, nowMs);
    this.#probing.set(profile, running);
    return running.finally(() => this.#probing.delete(profile));
  }

  async #probeAnew(profile: SandboxProfileName, atMs: number): Promise<Probed> {
    const missing = profile === 'bubblewrap' ? this.#missing() : null;
    const probed = missing ?? (profile === 'none' ? unprobed : await this.#probeReally(profile));
    this.#cache.set(profile, { probed, atMs });
    return probed;
  }

  async #probeReally(profile: Exclude<SandboxProfileName, 'none'>): Promise<Probed> {
    const terms = { ...defaultTerms([]), profile };
    return await probeProfile({
      scratchDir: this.#options.scratchDir,
      contains: contained[profile],
      outside: (launch) => this.#asAccount(launch),
      inside: ({ command, args: [program = '', ...rest] }) =>
        this.launch(
          { ...terms, preopens: profile === 'bubblewrap' ? [{ path: program, mode: 'ro' }] : [] },
          { command, args: [program, ...rest], home: '/nonexistent', cwd: undefined, egressSocket: null },
        ),
    });
  }

  #missing(): Probed | null {
    if (process.platform !== 'linux')
      return absent('Bubblewrap needs Linux. Run the kernel in a container or virtual machine of Linux');
    if (this.#bwrap() === null) return absent(installBubblewrap);
    if (this.#options.account === null && process.getuid?.() === 0)
      return absent('Install the package util-linux, whose setpriv gives sandboxed programs an account of their own');
    return prlimit() === undefined ? absent('Install the package util-linux, which has prlimit') : null;
  }
}

const absent = (problem: string): Probed => ({ holds: false, problem, results: [] });
const unprobed: Probed = { holds: true, problem: null, results: [] };

const contained: Readonly<Record<Exclude<SandboxProfileName, 'none'>, readonly Attempt[]>> = {
  bubblewrap: ['read_outside', 'see_processes', 'open_network'],
  'node-permission': ['read_outside', 'start_process'],
};

const described = {
  bubblewrap: {
    strength: 'isolated',
    detail: 'Namespaces of its own for processes, network, mounts, IPC and users, with limits',
  },
  'node-permission': {
    strength: 'weak',
    detail:
      'For Node scripts: restricts files and further processes. It does not restrict network, memory or processor time',
  },
  none: {
    strength: 'none',
    detail: 'Nothing is restricted. A program runs like this only under a grant that names this profile',
  },
} as const;
