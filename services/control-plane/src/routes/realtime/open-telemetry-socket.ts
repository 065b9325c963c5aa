import { openTelemetrySocket } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handlePerson } from '../../handle.ts';
import { openSocket } from '../../realtime/open-socket.ts';

export const openTelemetrySocketRoute = (context: Context) =>
  handlePerson(openTelemetrySocket)(openSocket(context, 'telemetry'));
