import { parseArgs } from 'node:util';
import type { DeadLetter } from '@countersign/messaging';
import { problemText, type Environment } from '@countersign/service-kit';
import { forTerminal, jsonForTerminal } from '@countersign/verifier';
import { localSettings } from '../config.ts';
import { LocalProblem } from '../local-problem.ts';
import { lettersAt, type Letters } from './letters-at.ts';

const usageText = `Usage: make redrive [url=] [queue=] [message=] [move=1] [json=1]

Lists the queues with dead letters. A dead letter is a message that its handler rejected, or that was delivered too often. With move=1 the command moves the dead letters of one queue back into it.

  url=      a broker (amqp://…) or a database (postgres://…); without url=: AMQP_URL, else DATABASE_URL, else the database of the system that runs on GOV_DATA_DIR
  queue=    only this queue, with each of its dead letters
  message=  only the message of the queue with this id
  move=1    move the selected messages back into their queue, as new messages
  json=1    print the answer as JSON

Exit status: 0 if there are no dead letters, or they were moved; 1 if there are dead letters, or there was nothing to move; 2 if the command could not run.
`;

type Streams = { write(text: string): void; tell(text: string): void };
type Input = {
  url?: string | undefined;
  queue?: string | undefined;
  message?: string | undefined;
  move: boolean;
  json: boolean;
};

/** Runs the command. Resolves to the exit status, and never rejects. */
export async function runRedrive(argv: string[], streams: Streams, env?: Environment): Promise<0 | 1 | 2> {
  try {
    const options = readArguments(argv);
    if (options === null) {
      streams.write(usageText);
      return 0;
    }
    const letters = await lettersAt(localSettings(env), options.url);
    try {
      return await (options.move ? moveLetters(letters, options, streams) : tellLetters(letters, options, streams));
    } finally {
      await letters.close();
    }
  } catch (error) {
    streams.tell(`${forTerminal(problemText(error))}\n`);
    return 2;
  }
}

async function tellLetters(letters: Letters, { queue, message, json }: Input, { write }: Streams): Promise<0 | 1> {
  const names = queue === undefined ? letters.queues : [queue];
  const queues = [];
  for (const name of names) {
    const count = (await letters.of(name)?.count(name)) ?? 0;
    const listed = count === 0 ? [] : ((await letters.of(name)?.list(name)) ?? []);
    const messages = listed.filter(({ messageId }) => message === undefined || messageId === message);
    if (count > 0) queues.push({ queue: name, count, oldest: messages[0]?.deadAt ?? null, letters: messages });
  }
  if (json) write(`${jsonForTerminal({ place: letters.place, moved: 0, queues })}\n`);
  else write(wordsOf(queues, { place: letters.place, isOne: queue !== undefined }));
  return queues.length === 0 ? 0 : 1;
}

async function moveLetters(letters: Letters, { queue, message, json }: Input, { write }: Streams): Promise<0 | 1> {
  if (queue === undefined) throw new LocalProblem('move=1 moves the dead letters of one queue.', 'Name it with queue=');
  const moved = (await letters.of(queue)?.redrive(queue, message)) ?? 0;
  const remaining = (await letters.of(queue)?.count(queue)) ?? 0;
  if (json) write(`${jsonForTerminal({ place: letters.place, moved, left: remaining })}\n`);
  else write(forTerminal(`Dead letters of ${queue}: ${moved} moved back, ${remaining} left`) + '\n');
  return moved === 0 ? 1 : 0;
}

type QueueReport = { queue: string; count: number; oldest: Date | null; letters: DeadLetter[] };

function wordsOf(queues: readonly QueueReport[], { place, isOne }: { place: string; isOne: boolean }): string {
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

/** `null` when help is requested. */
function readArguments(argv: string[]): Input | null {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const options = { url: text, queue: text, message: text, move: flag, json: flag, help: flag };
  const { values } = parseArgs({ args: argv, options });
  if (values.help) return null;
  const { url, queue, message, move, json } = values;
  if (url !== undefined && !/^(amqps?|postgres(ql)?):\/\//.test(url))
    throw new LocalProblem(
      'url= is not the address of a broker or a database.',
      'Give url=amqp://… or url=postgres://…',
    );
  if (message !== undefined && queue === undefined)
    throw new LocalProblem('message= needs the queue of the message.', 'Name it with queue=');
  return { url, queue, message, move, json };
}
