import { parseArgs } from 'node:util';
import type { DeadLetter } from '@countersign/messaging';
import { problemText, type Environment } from '@countersign/service-kit';
import { forTerminal, jsonForTerminal } from '@countersign/verifier';
import { localSettings } from '../config.ts';
import { LocalProblem } from '../local-problem.ts';
import { lettersAt, type Letters } from './letters-at.ts';

const usageText = `Usage: make redrive [url=] [queue=] [message=] [move=1] [json=1]

Tells which queues of the services have dead letters: messages that no handler took. With move=1 it moves those of one queue back into it.

  url=      a broker (amqp://…) or a database (postgres://…); without it AMQP_URL, DATABASE_URL, or the make up of GOV_DATA_DIR
  queue=    this queue alone, letter by letter
  message=  this message of the queue alone
  move=1    move what was named back into its queue, as new messages
  json=1    print the answer as JSON

Exit status: 0 there are none, or what was named was moved; 1 there are some, or nothing was there to move; 2 could not run.
`;

type Streams = { write(text: string): void; tell(text: string): void };
type Asked = {
  url?: string | undefined;
  queue?: string | undefined;
  message?: string | undefined;
  move: boolean;
  json: boolean;
};

/** The whole command. Resolves to the exit status; never rejects. */
export async function runRedrive(argv: string[], streams: Streams, env?: Environment): Promise<0 | 1 | 2> {
  try {
    const asked = readArguments(argv);
    if (asked === null) {
      streams.write(usageText);
      return 0;
    }
    const letters = await lettersAt(localSettings(env), asked.url);
    try {
      return await (asked.move ? moveLetters(letters, asked, streams) : tellLetters(letters, asked, streams));
    } finally {
      await letters.close();
    }
  } catch (error) {
    streams.tell(`${forTerminal(problemText(error))}\n`);
    return 2;
  }
}

async function tellLetters(letters: Letters, { queue, message, json }: Asked, { write }: Streams): Promise<0 | 1> {
  const names = queue === undefined ? letters.queues : [queue];
  const queues = [];
  for (const name of names) {
    const count = (await letters.of(name)?.count(name)) ?? 0;
    const listed = count === 0 ? [] : ((await letters.of(name)?.list(name)) ?? []);
    const told = listed.filter(({ messageId }) => message === undefined || messageId === message);
    if (count > 0) queues.push({ queue: name, count, oldest: told[0]?.deadAt ?? null, letters: told });
  }
  if (json) write(`${jsonForTerminal({ place: letters.place, moved: 0, queues })}\n`);
  else write(wordsOf(queues, { place: letters.place, isOne: queue !== undefined }));
  return queues.length === 0 ? 0 : 1;
}

async function moveLetters(letters: Letters, { queue, message, json }: Asked, { write }: Streams): Promise<0 | 1> {
  if (queue === undefined) throw new LocalProblem('move=1 moves the dead letters of one queue.', 'Name it with queue=');
  const moved = (await letters.of(queue)?.redrive(queue, message)) ?? 0;
  const left = (await letters.of(queue)?.count(queue)) ?? 0;
  if (json) write(`${jsonForTerminal({ place: letters.place, moved, left })}\n`);
  else write(forTerminal(`${moved} of ${queue} moved back, ${left} left`) + '\n');
  return moved === 0 ? 1 : 0;
}

type QueueTold = { queue: string; count: number; oldest: Date | null; letters: DeadLetter[] };

function wordsOf(queues: readonly QueueTold[], { place, isOne }: { place: string; isOne: boolean }): string {
  if (queues.length === 0) return forTerminal(`There are no dead letters at ${place}`) + '\n';
  const lines = queues.flatMap(({ queue, count, oldest, letters }) => [
    `${queue}: ${count}, the oldest of ${timeOf(oldest)} (${letters[0]?.reason ?? 'unknown'})`,
    ...(isOne ? letters.map(lineOf) : []),
  ]);
  const next = `Move them back: make redrive queue=${queues[0]?.queue ?? ''} move=1`;
  return [`Dead letters at ${place}`, ...lines, next].map((line) => `${forTerminal(line)}\n`).join('');
}

function lineOf({ messageId, type, deadAt, reason }: DeadLetter): string {
  return `  ${messageId}  ${type}  ${timeOf(deadAt)}  ${reason}`;
}

function timeOf(date: Date | null): string {
  return date === null ? 'an unknown time' : date.toISOString();
}

/** Null: it is asked what it can do. */
function readArguments(argv: string[]): Asked | null {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const options = { url: text, queue: text, message: text, move: flag, json: flag, help: flag };
  const { values } = parseArgs({ args: argv, options });
  if (values.help) return null;
  const { url, queue, message, move, json } = values;
  if (url !== undefined && !/^(amqps?|postgres(ql)?):\/\//.test(url))
    throw new LocalProblem(
      'This is the address of neither a broker nor a database.',
      'Give url=amqp://… or url=postgres://…',
    );
  if (message !== undefined && queue === undefined)
    throw new LocalProblem('message= names a message of one queue.', 'Name the queue too, with queue=');
  return { url, queue, message, move, json };
}
