import { connect, type ChannelModel, type ConfirmChannel, type GetMessage } from 'amqplib';
import { systemClock, type Clock } from './clock.ts';
import { lettersMax, unknownType, type DeadLetter, type DeadLetters } from './dead-letters.ts';
import { inTime, publishConfirmed } from './rabbit-confirm.ts';
import { closing } from './rabbit-link.ts';
import { deadQueueOf } from './rabbit-topology.ts';

/** Opens the dead letters of a broker. Rejects when the broker does not answer. */
export async function openRabbitDeadLetters(url: string): Promise<DeadLetters> {
  const clock = systemClock;
  const connection = await inTime(
    clock,
    connect(url, { clientProperties: { connection_name: 'countersign redrive' } }),
  );
  void closing(connection);
  const move = (queue: string, turn: Omit<Turn, 'queue' | 'clock'>) =>
    turnDeadLetters(connection, { queue, clock, ...turn });
  return {
    count: (queue) => onChannel(connection, (channel) => countOf(channel, queue)),
    list: async (queue) => {
      const seen: DeadLetter[] = [];
      const look = (letter: DeadLetter) => {
        seen.push(letter);
        return false;
      };
      if ((await onChannel(connection, (channel) => countOf(channel, queue))) === 0) return [];
      await move(queue, { max: lettersMax, goesBack: look });
      return seen.sort((left, right) => (left.deadAt?.getTime() ?? 0) - (right.deadAt?.getTime() ?? 0));
    },
    redrive: (queue, messageId) =>
      move(queue, { goesBack: (letter) => messageId === undefined || letter.messageId === messageId }),
    close: () => connection.close(),
  };
}

type Turn = { queue: string; clock: Clock; max?: number; goesBack(letter: DeadLetter): boolean };

/**
 * Takes each dead letter of a queue once, and moves it back to the queue or to the end of the dead letters. A letter is
 * removed only after the broker has confirmed its copy. Reading a letter and returning it would count as a delivery,
 * and the broker drops a message after too many deliveries. Returns the number of letters that moved back.
 */
export function turnDeadLetters(connection: ChannelModel, { queue, clock, max, goesBack }: Turn): Promise<number> {
  return onChannel(connection, async (channel) => {
    // The count at the start is the limit, so that messages that fail again are not moved in a loop.
    const { messageCount } = await channel.checkQueue(deadQueueOf(queue));
    let moved = 0;
    for (let turned = 0; turned < Math.min(messageCount, max ?? messageCount); turned += 1) {
      const letter = await channel.get(deadQueueOf(queue));
      if (letter === false) return moved;
      const isMoved = goesBack(described(letter));
      await passOn(channel, letter, {
        clock,
        routingKey: isMoved ? queue : deadQueueOf(queue),
        keepsHistory: !isMoved,
      });
      moved += Number(isMoved);
    }
    return moved;
  });
}

type Way = { clock: Clock; routingKey: string; keepsHistory: boolean };

async function passOn(channel: ConfirmChannel, letter: GetMessage, { clock, routingKey, keepsHistory }: Way) {
  const { messageId, type } = described(letter);
  const history = keepsHistory ? { headers: (letter.properties as { headers: Record<string, unknown> }).headers } : {};
  const message = {
    id: messageId,
    type,
    body: letter.content,
    needsConsumer: true,
    exchange: '',
    routingKey,
    ...history,
  };
  const unroutable = await publishConfirmed(channel, [message], clock);
  if (unroutable.length > 0) throw new Error(`Queue ${routingKey} does not exist.`);
  channel.ack(letter);
}

function described({ properties }: GetMessage): DeadLetter {
  const { messageId, type, headers } = properties as { messageId?: string; type?: string; headers?: History }; // amqplib types them as any
  const [death] = headers?.['x-death'] ?? [];
  return {
    messageId: messageId ?? unknownType,
    type: type ?? unknownType,
    reason: death?.reason ?? unknownType,
    deadAt: death === undefined ? null : new Date(death.time.value * 1_000),
  };
}

/** Part of the history that the broker writes. The time has the format of amqplib. */
type History = { 'x-death'?: { reason: string; time: { '!': 'timestamp'; value: number } }[] };

async function countOf(channel: ConfirmChannel, queue: string): Promise<number> {
  try {
    return (await channel.checkQueue(deadQueueOf(queue))).messageCount;
  } catch (error) {
    // No consumer has declared the queue yet, so it has no dead letters.
    if (error instanceof Error && 'code' in error && error.code === 404) return 0;
    throw error;
  }
}

async function onChannel<T>(connection: ChannelModel, work: (channel: ConfirmChannel) => Promise<T>): Promise<T> {
  const channel = await connection.createConfirmChannel();
  void closing(channel);
  try {
    return await work(channel);
  } finally {
    await channel.close().catch(() => undefined);
  }
}
