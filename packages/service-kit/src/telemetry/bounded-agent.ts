import http from 'node:http';
import https from 'node:https';

/** What the exporters wait for, and once more for another try. */
export const connectionMsMax = 10_000;

/**
 * Connections to a collector, each for one request. The exporters end what is silent; one that sends a byte now and then is not, and
 * would keep its connections, one more with each second, until the service has none left.
 */
export function boundedAgent(protocol: string): http.Agent {
  const agent = protocol === 'https:' ? new https.Agent() : new http.Agent();
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (...asked) => {
    const socket = connect(...asked);
    const timer = setTimeout(() => socket?.destroy(), connectionMsMax);
    timer.unref();
    socket?.once('close', () => clearTimeout(timer));
    return socket;
  };
  return agent;
}
