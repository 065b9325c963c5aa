import { NotSent } from '../boundary/not-sent.ts';

/** A call that its MCP server cannot have taken up: there was no connection, or the server refused the request before it looked at it. */
export class NotReached extends NotSent {}
