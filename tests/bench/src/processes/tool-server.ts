// The MCP server of the test kit, on the official SDK, in its own process. It answers every message with the number of
// calls that reached a tool.
import { startNoteServer } from '@countersign/testkit/mcp-server';
import { forgetOften } from './forget-often.ts';

const notes = await startNoteServer();
forgetOften(notes.requests);
const forgotten = forgetOften(notes.calls);
process.on('message', () => process.send?.({ result: forgotten() + notes.calls.length }));
process.once('disconnect', () => process.exit());
process.send?.({ url: notes.url });
