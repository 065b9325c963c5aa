import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { hasEnded, spawnService, type ServiceProcess } from '@countersign/testkit/service-process';

const startMsMax = 60_000;
const pollMs = 25;

type Wiring = { name: string; main: string; env: Record<string, string>; readyUrl: string; logFile: string };

/** A process of the installation, which is killed and started again at the same address. */
export class Part {
  #wiring: Wiring;
  #process: ServiceProcess | null = null;

  constructor(wiring: Wiring) {
    this.#wiring = wiring;
  }

  async start(): Promise<void> {
    const { main, env, readyUrl, logFile } = this.#wiring;
    this.#process = spawnService(main, env, { logFile });
    const deadline = Date.now() + startMsMax;
    while (!(await isReady(readyUrl))) {
      this.assertLives();
      // Ends a wait that has no other end.
      if (Date.now() > deadline) throw new Error(`${this.#wiring.name} is not ready after ${startMsMax} ms`);
      await delay(pollMs); // between two looks at the state
    }
  }

  async kill(): Promise<void> {
    this.assertLives();
    const running = this.#process;
    this.#process = null;
    await running?.kill();
  }

  /** Ends as a supervisor ends it. Throws when it did not end well. */
  async end(): Promise<void> {
    this.assertLives();
    const child = this.#process?.child;
    this.#process = null;
    if (child !== undefined) await drained(this.#wiring.name, child);
  }

  /** Goes on from another build, at the same address. */
  async startAs(main: string): Promise<void> {
    this.#wiring = { ...this.#wiring, main };
    await this.start();
  }

  /** The process stands still, as under a debugger or on a frozen machine, and knows nothing of it when it goes on. Returns what lets it go on. */
  freeze(): () => void {
    const child = this.#process?.child;
    child?.kill('SIGSTOP');
    return () => void child?.kill('SIGCONT');
  }

  /** Nothing that is cut or killed beside a process may end it. */
  assertLives(): void {
    if (this.#process !== null && hasEnded(this.#process.child))
      throw new Error(`${this.#wiring.name} ended without being killed`);
  }
}

async function drained(name: string, child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const [code, signal] = (await gone) as [number | null, string | null]; // what Node says of an exit
  if (code !== 0) throw new Error(`${name} was told to end, and ended with ${code ?? signal}`);
}

function isReady(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}
