//! Parses tokens into a tree.

use super::code::Binary;
use super::lexer::{Kind, Token};
use super::SyntaxError;

#[derive(Clone, Debug)]
pub(super) enum Expression {
    Number(i16),
    Name(String),
    Index(String, Box<Expression>),
    Call(String, Vec<Expression>),
    Not(Box<Expression>),
    Binary(Binary, Box<(Expression, Expression)>),
    Tuple(Vec<Expression>),
}

/// A word of memory, or an element of a row.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) name: String,
    pub(super) index: Option<Expression>,
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    Assign(Vec<String>, Expression),
    Store(Target, Expression),
    If(Expression, Vec<Statement>, Vec<Statement>),
    While(Expression, Vec<Statement>),
    Loop(Vec<Statement>),
    Repeat(Repeat),
    Break,
    Continue,
    Return(Option<Expression>),
    Acquire(Target),
    Await(Expression),
    Took(Expression),
    Assert(Expression),
    Fence,
    Lock,
    Unlock,
    Barrier,
    Call(Expression),
}

#[derive(Clone, Debug)]
pub(super) struct Repeat {
    /// The name of the copy's number, if it has a name.
    pub(super) name: Option<String>,
    pub(super) first: Expression,
    pub(super) last: Expression,
    pub(super) body: Vec<Statement>,
}

#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) action: Action,
    pub(super) line: usize,
}

/// A name with its first value, and its length if it is a row.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) length: Option<Expression>,
    pub(super) value: Option<Expression>,
}

#[derive(Clone, Debug)]
pub(super) enum Item {
    /// Words of memory, and whether they share a cache line.
    Shared(Vec<Declared>, bool),
    Local(Vec<Declared>),
    Ghost(Vec<Declared>),
    Constant(Vec<Declared>),
    Function {
        name: String,
        parameters: Vec<String>,
        body: Vec<Statement>,
    },
    Init(Vec<Statement>),
    Thread {
        name: String,
        copies: Option<Expression>,
        body: Vec<Statement>,
    },
    Finally(Expression),
}

/// The items, with the lines where they begin.
pub(super) type File = Vec<(Item, usize)>;

/// Parses the tree of a program.
pub(super) fn parse(tokens: &[Token]) -> Result<File, SyntaxError> {
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let mut file = Vec::new();
    while parser.at < tokens.len() {
        let line = parser.line();
        file.push((parser.item()?, line));
    }
    Ok(file)
}

/// The deepest nesting of values and blocks.
const MAX_DEPTH: usize = 100;

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |token| token.line)
    }

    fn error<T>(&self, reason: impl Into<String>) -> Result<T, SyntaxError> {
        Err(SyntaxError::new(self.line(), reason))
    }

    /// Error that says what was expected and what is there instead.
    fn unexpected<T>(&self, expected: &str) -> Result<T, SyntaxError> {
        match self.peek() {
            Some(found) => self.error(format!("expected {expected}, found `{found}`")),
            None => self.error(format!("expected {expected}, found the end")),
        }
    }

    /// Parses an item that may contain items of the same kind.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, SyntaxError>) -> Result<T, SyntaxError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.error("this is nested more than 100 levels deep");
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn peek(&self) -> Option<&Kind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Kind::Sign(found)) if *found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Kind::Name(found)) if found == word)
    }

    fn skip(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    fn skip_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), SyntaxError> {
        if self.skip(sign) {
            return Ok(());
        }
        self.unexpected(&format!("`{sign}`"))
    }

    fn name(&mut self) -> Result<String, SyntaxError> {
        match self.peek() {
            Some(Kind::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            _ => self.unexpected("a name"),
        }
    }

    fn item(&mut self) -> Result<Item, SyntaxError> {
        let Some(Kind::Name(word)) = self.peek().cloned() else {
            return match self.peek() {
                Some(found) => self.error(format!("`{found}` does not begin a declaration")),
                None => self.error("expected a declaration"),
            };
        };
        self.at += 1;
        let item = match word.as_str() {
            "shared" => Item::Shared(self.declared()?, false),
            "line" => {
                self.expect("{")?;
                if !self.skip_word("shared") {
                    return self.error("a `line` may only hold `shared` words");
                }
                let words = self.declared()?;
                self.expect("}")?;
                Item::Shared(words, true)
            }
            "local" => Item::Local(self.declared()?),
            "ghost" => Item::Ghost(self.declared()?),
            "const" => Item::Constant(self.declared()?),
            "fn" => {
                let name = self.name()?;
                self.expect("(")?;
                let mut parameters = Vec::new();
                while !self.skip(")") {
                    parameters.push(self.name()?);
                    if !self.is(")") {
                        self.expect(",")?;
                    }
                }
                Item::Function { name, parameters, body: self.block()? }
            }
            "init" => Item::Init(self.block()?),
            "thread" => {
                let name = self.name()?;
                let copies = if self.skip("*") { Some(self.operand()?) } else { None };
                Item::Thread { name, copies, body: self.block()? }
            }
            "finally" => Item::Finally(self.expression()?),
            other => {
                let reason = format!("`{other}` does not begin a declaration");
                self.at -= 1;
                return self.error(reason);
            }
        };
        Ok(item)
    }

    fn declared(&mut self) -> Result<Vec<Declared>, SyntaxError> {
        let mut all = Vec::new();
        loop {
            let name = self.name()?;
            let length = if self.skip("[") {
                let length = self.expression()?;
                self.expect("]")?;
                Some(length)
            } else {
                None
            };
            let value = if self.skip("=") { Some(self.expression()?) } else { None };
            all.push(Declared { name, length, value });
            if !self.skip(",") {
                return Ok(all);
            }
        }
    }

    fn block(&mut self) -> Result<Vec<Statement>, SyntaxError> {
        self.nested(|parser| {
            parser.expect("{")?;
            let mut statements = Vec::new();
            loop {
                while parser.skip(";") {}
                if parser.skip("}") {
                    return Ok(statements);
                }
                let line = parser.line();
                statements.push(Statement { action: parser.statement()?, line });
            }
        })
    }

    fn statement(&mut self) -> Result<Action, SyntaxError> {
        if self.skip("(") {
            let mut names = vec![self.name()?];
            while self.skip(",") {
                names.push(self.name()?);
            }
            self.expect(")")?;
            self.expect("=")?;
            return Ok(Action::Assign(names, self.expression()?));
        }
        let name = match self.peek() {
            Some(Kind::Name(name)) => name.clone(),
            Some(_) => return self.unexpected("a statement"),
            None => return self.unexpected("`}`"),
        };
        self.at += 1;
        let action = match name.as_str() {
            "if" => return self.conditional(),
            "while" => Action::While(self.expression()?, self.block()?),
            "loop" => Action::Loop(self.block()?),
            "repeat" => Action::Repeat(self.repeat()?),
            "break" => Action::Break,
            "continue" => Action::Continue,
            "return" => {
                let ends = self.is("}") || self.is(";") || self.tokens[self.at - 1].line != self.line();
                Action::Return(if ends { None } else { Some(self.expression()?) })
            }
            "acquire" => Action::Acquire(self.target()?),
            "await" => Action::Await(self.expression()?),
            "assert" => Action::Assert(self.expression()?),
            "fence" => Action::Fence,
            "lock" => Action::Lock,
            "unlock" => Action::Unlock,
            "barrier" => Action::Barrier,
            "took" => {
                self.expect("(")?;
                let task = self.expression()?;
                self.expect(")")?;
                Action::Took(task)
            }
            _ if self.is("=") => {
                self.expect("=")?;
                Action::Assign(vec![name], self.expression()?)
            }
            _ if self.is("(") => {
                self.at -= 1;
                Action::Call(self.operand()?)
            }
            _ => {
                self.at -= 1;
                let target = self.target()?;
                self.expect(":=")?;
                Action::Store(target, self.expression()?)
            }
        };
        Ok(action)
    }

    fn conditional(&mut self) -> Result<Action, SyntaxError> {
        self.nested(Self::conditional_here)
    }

    fn conditional_here(&mut self) -> Result<Action, SyntaxError> {
        let condition = self.expression()?;
        let then = self.block()?;
        let line = self.line();
        let otherwise = if !self.skip_word("else") {
            Vec::new()
        } else if self.skip_word("if") {
            vec![Statement { action: self.conditional()?, line }]
        } else {
            self.block()?
        };
        Ok(Action::If(condition, then, otherwise))
    }

    fn repeat(&mut self) -> Result<Repeat, SyntaxError> {
        let named =
            matches!(self.tokens.get(self.at + 1).map(|token| &token.kind), Some(Kind::Name(word)) if word == "in");
        if !named {
            let last = self.expression()?;
            return Ok(Repeat { name: None, first: Expression::Number(1), last, body: self.block()? });
        }
        let name = self.name()?;
        self.at += 1;
        let first = self.expression()?;
        self.expect("..=")?;
        let last = self.expression()?;
        Ok(Repeat { name: Some(name), first, last, body: self.block()? })
    }

    fn target(&mut self) -> Result<Target, SyntaxError> {
        let name = self.name()?;
        if !self.skip("[") {
            return Ok(Target { name, index: None });
        }
        let index = Some(self.expression()?);
        self.expect("]")?;
        Ok(Target { name, index })
    }

    fn expression(&mut self) -> Result<Expression, SyntaxError> {
        self.binary(0)
    }

    fn binary(&mut self, level: usize) -> Result<Expression, SyntaxError> {
        /// Operators of equal precedence, loosest first. `>` is `<` with exchanged sides.
        const LEVELS: [&[(&str, Binary, bool)]; 5] = [
            &[("||", Binary::Or, false)],
            &[("&&", Binary::And, false)],
            &[
                ("==", Binary::Equal, false),
                ("!=", Binary::Unequal, false),
                ("<=", Binary::LessOrEqual, false),
                (">=", Binary::LessOrEqual, true),
                ("<", Binary::Less, false),
                (">", Binary::Less, true),
            ],
            &[("+", Binary::Add, false), ("-", Binary::Subtract, false)],
            &[("*", Binary::Multiply, false), ("/", Binary::Divide, false), ("%", Binary::Remainder, false)],
        ];
        let Some(signs) = LEVELS.get(level) else {
            return self.operand();
        };
        let mut left = self.binary(level + 1)?;
        let mut length = 0;
        while let Some((sign, operator, exchanged)) = signs.iter().find(|(sign, ..)| self.is(sign)) {
            self.expect(sign)?;
            // A chain of operators makes a tree as deep as the chain is long.
            length += 1;
            if length > MAX_DEPTH {
                return self.error("this is nested more than 100 levels deep");
            }
            let right = self.binary(level + 1)?;
            // The left side is evaluated first, even if the comparison exchanges the sides.
            left = match (exchanged, operator) {
                (false, _) => Expression::Binary(*operator, Box::new((left, right))),
                (true, Binary::Less) => {
                    Expression::Not(Box::new(Expression::Binary(Binary::LessOrEqual, Box::new((left, right)))))
                }
                (true, _) => Expression::Not(Box::new(Expression::Binary(Binary::Less, Box::new((left, right))))),
            };
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expression, SyntaxError> {
        self.nested(Self::operand_here)
    }

    fn operand_here(&mut self) -> Result<Expression, SyntaxError> {
        if self.skip("!") {
            return Ok(Expression::Not(Box::new(self.operand()?)));
        }
        if self.skip("-") {
            let operand = self.operand()?;
            return Ok(Expression::Binary(Binary::Subtract, Box::new((Expression::Number(0), operand))));
        }
        if self.skip("(") {
            let mut all = self.list(")")?;
            return match all.len() {
                0 => self.error("expected a value between `(` and `)`"),
                1 => Ok(all.remove(0)),
                _ => Ok(Expression::Tuple(all)),
            };
        }
        if let Some(Kind::Number(number)) = self.peek() {
            let number = *number;
            self.at += 1;
            return Ok(Expression::Number(number));
        }
        let line = self.line();
        let Some(Kind::Name(name)) = self.peek().cloned() else {
            return self.unexpected("a name or a number");
        };
        self.at += 1;
        // A parenthesis on the next line begins a statement.
        if self.is("(") && self.line() == line {
            self.expect("(")?;
            return Ok(Expression::Call(name, self.list(")")?));
        }
        if self.skip("[") {
            let index = self.expression()?;
            self.expect("]")?;
            return Ok(Expression::Index(name, Box::new(index)));
        }
        Ok(Expression::Name(name))
    }

    fn list(&mut self, end: &str) -> Result<Vec<Expression>, SyntaxError> {
        let mut all = Vec::new();
        while !self.skip(end) {
            all.push(self.expression()?);
            if !self.is(end) {
                self.expect(",")?;
            }
        }
        Ok(all)
    }
}
