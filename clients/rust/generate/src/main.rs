//! A plugin of buf and protoc: the messages and the client, by prost and tonic, and behind them what prost does not say of
//! a message: which members are set, and the word of an enum's value; and the methods of `crate::Client`.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{Read, Write};

use prost::Message;
use prost_types::compiler::code_generator_response::{Feature, File};
use prost_types::compiler::{CodeGeneratorRequest, CodeGeneratorResponse};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet,
    MethodDescriptorProto,
};

const PACKAGE: &str = "interlingua.v1";

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = Vec::new();
    std::io::stdin().read_to_end(&mut given)?;
    let request = CodeGeneratorRequest::decode(given.as_slice())?;
    let folder = std::env::temp_dir().join(format!("interlingua-generate-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let all = FileDescriptorSet { file: request.proto_file.clone() };
    tonic_prost_build::configure().build_server(false).out_dir(&folder).compile_fds(all)?;
    let mut content = String::from("// GENERATED from proto/ by clients/rust/generate: do not edit.\n");
    content += &std::fs::read_to_string(folder.join(format!("{PACKAGE}.rs")))?;
    std::fs::remove_dir_all(&folder)?;
    for file in request.proto_file.iter().filter(|file| file.package() == PACKAGE) {
        file.message_type.iter().filter(|message| has_rest(message)).for_each(|message| content += &rest_of(message));
        file.enum_type.iter().for_each(|item| content += &words_of(item));
        if !file.service.is_empty() {
            content += &methods_of(file);
        }
    }
    let file = File { name: Some(format!("{PACKAGE}.rs")), content: Some(content), ..Default::default() };
    let features = Some(Feature::Proto3Optional as u64);
    let answer = CodeGeneratorResponse { file: vec![file], supported_features: features, ..Default::default() };
    Ok(std::io::stdout().write_all(&answer.encode_to_vec())?)
}

fn has_rest(message: &DescriptorProto) -> bool {
    message.field.iter().any(|field| field.name() == "rest_json")
}

fn rest_of(message: &DescriptorProto) -> String {
    let name = message.name();
    let mut arms = String::new();
    for field in message.field.iter().filter(|field| field.name() != "rest_json") {
        let member = field.name().strip_suffix("_json").unwrap_or(field.name());
        writeln!(arms, "            \"{member}\" => {},", is_set(field)).expect("a text takes all");
    }
    format!(
        "impl crate::json::Rest for {name} {{
    fn rest_json(&self) -> &str {{
        &self.rest_json
    }}
    fn rest_json_mut(&mut self) -> &mut String {{
        &mut self.rest_json
    }}
    fn is_set(&self, member: &str) -> bool {{
        match member {{
{arms}            _ => false,
        }}
    }}
}}
"
    )
}

fn is_set(field: &FieldDescriptorProto) -> String {
    let keyword = ["type", "move"].contains(&field.name());
    let place = format!("self.{}{}", if keyword { "r#" } else { "" }, field.name());
    if field.label() == Label::Repeated {
        return format!("!{place}.is_empty()");
    }
    if field.proto3_optional() || field.r#type() == Type::Message {
        return format!("{place}.is_some()");
    }
    match field.r#type() {
        Type::String | Type::Bytes => format!("!{place}.is_empty()"),
        Type::Bool => place,
        Type::Double | Type::Float => format!("{place} != 0.0"),
        _ => format!("{place} != 0"),
    }
}

fn words_of(item: &EnumDescriptorProto) -> String {
    let prefix = item.value[0].name().trim_end_matches("UNSPECIFIED");
    let name = item.name();
    format!(
        "impl crate::json::Word for {name} {{
    fn word(self) -> String {{
        self.as_str_name()[{}..].to_lowercase()
    }}
}}
",
        prefix.len()
    )
}

/// Methods that stand in client.rs, for they do more than to call.
const BY_HAND: [&str; 2] = ["GenerateStream", "GenerateInSession"];

/// The methods of the service, each with its comment in proto/ and with errors of this crate.
fn methods_of(file: &FileDescriptorProto) -> String {
    const SERVICE: i32 = 6;
    const METHOD: i32 = 2;
    let comment = |number: usize| {
        let mut places = file.source_code_info.iter().flat_map(|info| &info.location);
        let found = places.find(|place| place.path == [SERVICE, 0, METHOD, number as i32]);
        found.map_or("", |place| place.leading_comments())
    };
    let methods = file.service[0].method.iter().enumerate().filter(|(_, method)| !BY_HAND.contains(&method.name()));
    let stub = if file.service[0].name() == "SessionService" { "sessions" } else { "stub" };
    let written: String = methods.map(|(number, method)| method_of(method, stub, comment(number))).collect();
    format!("impl crate::Client {{\n{written}}}\n")
}

fn method_of(method: &MethodDescriptorProto, stub: &str, comment: &str) -> String {
    let kind = |name: &str| name.strip_prefix(&format!(".{PACKAGE}.")).expect("a message of the package").to_owned();
    let (taken, given) = (kind(method.input_type()), kind(method.output_type()));
    let name = snake(method.name());
    let about: String = comment.trim_end().lines().map(|line| format!("    ///{line}\n")).collect();
    let request = match method.client_streaming() {
        true => format!("impl tonic::codegen::tokio_stream::Stream<Item = {taken}> + Send + 'static"),
        false => format!("impl tonic::IntoRequest<{taken}>"),
    };
    let (answer, wrapped) = match method.server_streaming() {
        true => (format!("crate::Pieces<{given}>"), "crate::Pieces::new(answer)"),
        false => (given, "answer"),
    };
    format!(
        "{about}    pub async fn {name}(&self, request: {request}) -> Result<{answer}, crate::Error> {{
        let answer = self.{stub}().{name}(request).await?.into_inner();
        Ok({wrapped})
    }}
"
    )
}

fn snake(name: &str) -> String {
    let letters = name.chars().enumerate();
    let spelt = letters.map(|(place, letter)| match letter.is_uppercase() {
        true if place > 0 => format!("_{}", letter.to_lowercase()),
        _ => letter.to_lowercase().to_string(),
    });
    spelt.collect()
}
