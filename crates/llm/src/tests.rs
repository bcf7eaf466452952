//! Tests of the client against the loopback model, in both APIs, with good and bad answers.

mod misbehaviour;
mod requests;
mod retries;

use std::time::Duration;

use fault::Fault;
use futures_util::StreamExt;
use tokio::time::Instant;

use crate::testing::{LoopbackProvider, ScriptedResponse};
use crate::{
    Api, ApiKey, Budget, ChatMessage, Model, ModelClient, ModelConfig, ModelEvent, ModelReply,
    ModelRequest,
};

const KEY: &str = "sk-test-1f2e3d4c5b6a";
const APIS: [Api; 2] = [Api::OpenAi, Api::Anthropic];

fn budget() -> Budget {
    Budget::new(1_000_000, 100, Instant::now() + Duration::from_mins(5))
}

fn ask() -> ModelRequest {
    ModelRequest::new(vec![ChatMessage::User("Сколько стоит Сбербанк?".to_owned())], &budget())
}

fn config(server: &LoopbackProvider, api: Api) -> ModelConfig {
    let mut config = server.config(api).key(ApiKey::new(KEY).unwrap());
    config.retry_wait = Duration::from_millis(1);
    config
}

async fn started(script: Vec<ScriptedResponse>, api: Api) -> (LoopbackProvider, ModelClient) {
    let server = LoopbackProvider::start(script).await.unwrap();
    let client = ModelClient::new(config(&server, api)).unwrap();
    (server, client)
}

/// The events of the stream, and how it ended.
async fn follow(
    client: &ModelClient,
    request: ModelRequest,
) -> (Vec<ModelEvent>, Result<ModelReply, Fault>) {
    let (mut events, mut stream) = (Vec::new(), client.stream(request));
    while let Some(event) = stream.next().await {
        match event {
            Ok(ModelEvent::Done(reply)) => {
                assert!(stream.next().await.is_none(), "something came after the end");
                return (events, Ok(reply));
            }
            Ok(event) => events.push(event),
            Err(fault) => {
                assert!(stream.next().await.is_none(), "something came after the fault");
                return (events, Err(fault));
            }
        }
    }
    panic!("the stream ended without an end");
}
