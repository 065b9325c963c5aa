import { describe } from '@jest/globals';
import { describeMessageBus } from './contract-suite.ts';

describe('the RabbitMQ bus', () => describeMessageBus('rabbitmq'));
