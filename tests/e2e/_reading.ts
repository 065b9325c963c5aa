import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { untilAnswered } from '@countersign/testkit/until';
import { root } from '../architecture/repository.ts';
import { freePorts } from './_ports.ts';
import { beginWithTemplate, withoutWarmth } from './_system.ts';
import { freshEnvironment, openTerminal, typeInForeground, type Foreground, type Terminal } from './_terminal.ts';
import type { Walk } from './_walk.ts';

/**
 * A reader who types the commands of a document: `make up` into one terminal, and everything else into another. Only
 * the database exists before. `quickstart.test.ts` starts without it.
 */
export class Reading {
  readonly walk: Walk;
  /**
   * The working directory of the reader: the parts of the repository that the commands need, without traces of an
   * earlier start.
   */
  readonly place: { cwd: string; env: Record<string, string> };
  readonly kernelPort: string;
  readonly second: Terminal;
  first: Foreground;

  private constructor(walk: Walk, { place, kernelPort, first }: Pick<Reading, 'place' | 'kernelPort' | 'first'>) {
    this.walk = walk;
    this.place = place;
    this.kernelPort = kernelPort;
    this.first = first;
    this.second = openTerminal(place);
  }

  /** `setUp` is a part of the block that the second terminal starts with. */
  static async begin(walk: Walk, setUp: string): Promise<Reading> {
    const cwd = mkdtempSync(join(tmpdir(), 'countersign-reading-'));
    chmodSync(cwd, 0o711); // PostgreSQL runs under its own account when we are root
    for (const folder of ['packages', 'infra']) symlinkSync(join(root, folder), join(cwd, folder));
    const chosen = await freePorts();
    const place = { cwd, env: { ...freshEnvironment, ...withoutWarmth, ...chosen } };
    await beginWithTemplate(join(cwd, '.countersign'));
    const first = await typeInForeground(walk.blockWith('make up'), place);
    const reading = new Reading(walk, { place, kernelPort: chosen.GOV_PORT, first });
    await reading.second.type(walk.blockWith(setUp));
    return reading;
  }

  /** Types the next block with these words. Resolves with the printed lines. */
  async typed(words: string): Promise<string[]> {
    return linesOf(await this.second.type(this.walk.blockWith(words)));
  }

  /** Types a block repeatedly, as the document asks, until it prints the wanted first line. */
  async repeated(words: string, wanted: string): Promise<string[]> {
    const commands = this.walk.blockWith(words);
    return await untilAnswered(async () => {
      const lines = (await this.second.type(commands).catch(String)).split('\n');
      return lines[0] === wanted && linesOf(lines.join('\n'));
    });
  }

  async end(): Promise<void> {
    this.second.close();
    await this.first.interrupt();
    rmSync(this.place.cwd, { recursive: true, force: true });
  }
}

function linesOf(printed: string): string[] {
  return printed.split('\n').filter((line) => line !== '');
}
