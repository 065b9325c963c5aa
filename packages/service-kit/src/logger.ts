import { createLogger as createWinston, format, transports, type Logger as Winston } from 'winston';
import { redact } from './redact.ts';

type LogFields = Readonly<Record<string, unknown>>;
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Logs are events: a low-cardinality name in the past tense (`receipt.sealed`) and fields. */
export type Log = {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** A logger that adds these fields to every event. */
  child(fields: LogFields): Log;
  isEnabled(level: LogLevel): boolean;
};

export type LoggerOptions = {
  service: string;
  level?: LogLevel;
  /** `json` is one line per event; `readable` is for people at a terminal. */
  layout?: 'json' | 'readable';
  silent?: boolean;
  /** The destination of the lines. The default is standard output. */
  stream?: NodeJS.WritableStream;
};

/**
 * A logger that redacts members named like secrets (such as authorization, token, key, code, password) at every depth.
 */
export function createLogger(options: LoggerOptions): Log {
  const silent = options.silent ?? false;
  const layout = options.layout === 'readable' ? readable : jsonLine;
  const winston = createWinston({
    level: options.level ?? 'info',
    silent,
    format: format.printf(({ level, message, fields }) => layout(level, String(message), fields)),
    transports: [new transports.Stream({ stream: options.stream ?? process.stdout })],
  });
  return logOf(winston, { service: options.service }, silent);
}

function logOf(winston: Winston, fixed: LogFields, silent: boolean): Log {
  const write = (level: LogLevel) => (event: string, fields?: LogFields) => {
    if (silent || !winston.isLevelEnabled(level)) return;
    winston.log({ level, message: event, fields: redact({ ...fixed, ...fields }) });
  };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => logOf(winston, { ...fixed, ...fields }, silent),
    isEnabled: (level) => !silent && winston.isLevelEnabled(level),
  };
}

function jsonLine(level: string, event: string, fields: unknown): string {
  return JSON.stringify({ time: new Date().toISOString(), level, event, ...Object(fields) });
}

function readable(level: string, event: string, fields: unknown): string {
  const { service, ...rest } = Object(fields) as Record<string, unknown>; // redact() returns an object for an object
  const pairs = Object.entries(rest).map(([name, value]) => ` ${name}=${readableValue(value)}`);
  return `${new Date().toISOString().slice(11, 23)} ${level.padEnd(5)} ${String(service)} ${event}${pairs.join('')}`;
}

function readableValue(value: unknown): string {
  if (typeof value === 'string') return value;
  return isDescribedError(value) ? errorSentence(value) : JSON.stringify(value);
}

type DescribedError = { message: string; stack: string; cause?: unknown };

function isDescribedError(value: unknown): value is DescribedError {
  return typeof value === 'object' && value !== null && 'message' in value && 'stack' in value;
}

/** The failure and its causes in one line; the stacks are in the JSON layout. */
function errorSentence({ message, cause }: DescribedError): string {
  const line = message.replaceAll(/\s+/g, ' ').trim();
  return isDescribedError(cause) ? `${line}: ${errorSentence(cause)}` : line;
}
