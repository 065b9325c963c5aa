import type { IncomingMessage } from 'node:http';
import type { AnyRoute } from '@countersign/contracts';
import type { Exchange } from './exchange.ts';
import type { GuardRequest, ParsedRequest } from './guard.ts';
import type { Log } from './logger.ts';
import type { RawQuery } from './parse-query.ts';

/**
 * The part of an exchange for guards. A class, because an object literal with getters costs a microsecond per request.
 */
export class GuardView implements GuardRequest {
  readonly req: IncomingMessage;
  readonly route: AnyRoute;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange, route: AnyRoute) {
    this.req = exchange.req;
    this.route = route;
    this.params = exchange.rawParams;
    this.requestId = exchange.requestId;
    this.#exchange = exchange;
  }

  get query(): Readonly<RawQuery> {
    return this.#exchange.rawQuery;
  }

  get log(): Log {
    return this.#exchange.log;
  }
}

/** The part of a parsed exchange for guards. */
export class ParsedView extends GuardView implements ParsedRequest {
  readonly parsed: ParsedRequest['parsed'];

  constructor(exchange: Exchange, route: AnyRoute) {
    super(exchange, route);
    this.parsed = { params: exchange.params, query: exchange.query, body: exchange.body };
  }
}
