import { randomUUID } from 'node:crypto';
import type { ArgsCipher } from '../../controls/approvals/args-cipher.ts';
import { Notices, type Carrier } from './notices.ts';
import { OpenStreams } from './open-streams.ts';
import { answerMsMax, Questions } from './questions.ts';
import { SessionTokens } from './session-tokens.ts';
import { SessionSettings } from './settings.ts';
import { StreamStates } from './stream-states.ts';

type McpSessionsDeps = {
  cipher: ArgsCipher;
  clock: () => Date;
  carrier: Carrier;
  times?: SessionTimes | undefined;
};

/** Times that tests shorten. */
export type SessionTimes = {
  /** How long a client may take to answer a question. */
  answerWaitMs?: number;
  /** How often a stream compares its lists and its credential. */
  streamTickMs?: number;
};

/** The time for which clients may cache a list. */
const streamTickMsDefault = 10_000;

/** The sessions of MCP clients with protocol version 2025-11-25. */
export type McpSessions = {
  readonly tokens: SessionTokens;
  readonly questions: Questions;
  readonly settings: SessionSettings;
  readonly streams: OpenStreams;
  readonly streamStates: StreamStates;
  readonly streamTickMs: number;
  /** Accepts a text that the carrier delivered. */
  receive(text: string): void;
  beginClose(): void;
};

export function createMcpSessions({ cipher, clock, carrier, times = {} }: McpSessionsDeps): McpSessions {
  const kernel = randomUUID();
  const nowMs = () => clock().getTime();
  const notices = new Notices(carrier, cipher);
  const questions = new Questions({ cipher, notices, kernel, nowMs, waitMs: times.answerWaitMs ?? answerMsMax });
  const settings = new SessionSettings(notices, kernel);
  const streams = new OpenStreams();
  return {
    ...{
      questions,
      settings,
      streams,
      tokens: new SessionTokens(cipher, nowMs),
      streamStates: new StreamStates(cipher),
    },
    streamTickMs: times.streamTickMs ?? streamTickMsDefault,
    receive: (text) => {
      const notice = notices.open(text);
      if (notice === null) return;
      if (notice.kind === 'answer') questions.receive(notice);
      else settings.receive(notice);
    },
    beginClose: () => {
      questions.beginClose();
      streams.beginClose();
    },
  };
}
