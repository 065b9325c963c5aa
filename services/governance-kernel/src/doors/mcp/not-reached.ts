import { NotSent } from '../../decision/not-sent.ts';

/**
 * A call that its MCP server cannot have begun: there was no connection, or the server refused the request without
 * processing it.
 */
export class NotReached extends NotSent {}

/** The server does not accept the credential of the request. */
export class Unauthorized extends NotReached {}

/** A request that is not sent, because the server did not answer earlier ones. */
export class Suspended extends NotSent {}
