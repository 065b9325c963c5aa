import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { hasEnded, spawnService, type ServiceProcess } from '@countersign/testkit/service-process';
import { patienceMs } from '@countersign/testkit/until';

const startMsMax = patienceMs;
const pollMs = 25;

type Wiring = { name: string; main: string; env: Record<string, string>; readyUrl: string; logFile: string };

/** A process of the installation. It can be killed and started again at the same address. */
export class Component {
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
      // Ends a wait that would otherwise never end.
      if (Date.now() > deadline) throw new Error(`${this.#wiring.name} is not ready after ${startMsMax} ms`);
      await delay(pollMs); // between two checks of the state
    }
  }

  async kill(): Promise<void> {
    this.assertLives();
    const running = this.#process;
    this.#process = null;
    await running?.kill();
  }

  /** Ends the process as a supervisor does. Throws when its exit was not clean. */
  async end(): Promise<void> {
    this.assertLives();
    const child = this.#process?.child;
    this.#process = null;
    if (child !== undefined) await drained(this.#wiring.name, child);
  }

  /** Continues with another build, at the same address. */
  async startAs(main: string): Promise<void> {
    this.#wiring = { ...this.#wiring, main };
    await this.start();
  }

  /**
   * Freezes the process without its knowledge, as a debugger or a frozen machine does. Returns a function that resumes
   * it.
   */
  freeze(): () => void {
    const child = this.#process?.child;
    child?.kill('SIGSTOP');
    return () => void child?.kill('SIGCONT');
  }

  /** Throws if the process ended without being killed. Harm to other parts must not end it. */
  assertLives(): void {
    if (this.#process !== null && hasEnded(this.#process.child))
      throw new Error(`${this.#wiring.name} ended without being killed`);
  }
}

async function drained(name: string, child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const [code, signal] = (await gone) as [number | null, string | null]; // the arguments of Node's exit event
  if (code !== 0) throw new Error(`${name} was told to end, and ended with ${code ?? signal}`);
}

function isReady(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}
