import { NotSent } from '../boundary/not-sent.ts';

/** A call that its MCP server cannot have taken up: there was no connection, or the server refused the request before it looked at it. */
export class NotReached extends NotSent {}

/** The server does not accept the credential of the request. */
export class Unauthorized extends NotReached {}

/** A request that is not sent, because the server did not answer the ones before. */
export class Suspended extends NotSent {}
