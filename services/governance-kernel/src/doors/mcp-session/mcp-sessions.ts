import { randomUUID } from 'node:crypto';
import type { ArgsCipher } from '../../controls/approvals/args-cipher.ts';
import { Notices, type Carrier } from './notices.ts';
import { answerMsMax, Questions } from './questions.ts';
import { SessionTokens } from './session-tokens.ts';
import { SessionSettings } from './settings.ts';

type McpSessionsDeps = {
  cipher: ArgsCipher;
  clock: () => Date;
  carrier: Carrier;
  /** How long a client may take to answer a question. Tests set it. */
  answerWaitMs?: number | undefined;
};

/** The sessions of MCP clients with protocol version 2025-11-25. */
export type McpSessions = {
  readonly tokens: SessionTokens;
  readonly questions: Questions;
  readonly settings: SessionSettings;
  /** Accepts a text that the carrier delivered. */
  receive(text: string): void;
  beginClose(): void;
};

export function createMcpSessions({ cipher, clock, carrier, answerWaitMs }: McpSessionsDeps): McpSessions {
  const kernel = randomUUID();
  const nowMs = () => clock().getTime();
  const notices = new Notices(carrier, cipher);
  const questions = new Questions({ cipher, notices, kernel, nowMs, waitMs: answerWaitMs ?? answerMsMax });
  const settings = new SessionSettings(notices, kernel);
  return {
    ...{ questions, settings, tokens: new SessionTokens(cipher, nowMs) },
    receive: (text) => {
      const notice = notices.open(text);
      if (notice === null) return;
      if (notice.kind === 'answer') questions.receive(notice);
      else settings.receive(notice);
    },
    beginClose: () => questions.beginClose(),
  };
}
