import http from 'node:http';
import https from 'node:https';
import type { CollectorPatience } from './collector-patience.ts';

/**
 * Connections to a collector, each for one request. The exporters end silent connections. A collector that sends a byte
 * now and then is not silent. Without this limit, it would keep one more connection each second, until the service has
 * none left.
 */
export function boundedAgent({ connectionMs }: Pick<CollectorPatience, 'connectionMs'>) {
  return (protocol: string): http.Agent => {
    const agent = protocol === 'https:' ? new https.Agent() : new http.Agent();
    const connect = agent.createConnection.bind(agent);
    agent.createConnection = (...args) => {
      const socket = connect(...args);
      const timer = setTimeout(() => socket?.destroy(), connectionMs);
      timer.unref();
      socket?.once('close', () => clearTimeout(timer));
      return socket;
    };
    return agent;
  };
}
